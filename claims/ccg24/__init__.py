"""Claims of Chen, Cao, Ge on Rényi privacy and Gaussian limits of the shuffle model, two versions, 2024."""
