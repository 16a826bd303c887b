"""Claims of Wang, Su, Ye, Shokri, Su on mixture mechanisms and f-differential privacy, 2023."""
