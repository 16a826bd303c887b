"""Claims of Su, Cheng, Wang on decompositions and generalized privacy amplification, 2025."""
