"""Claims of Chen, Cao, Ge on personal budgets in the shuffle model (GSPA), 2024."""
