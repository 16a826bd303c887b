"""The claims of Wang, "Privacy amplification via shuffling: unified, simplified, and tightened" (PVLDB 2024).

In order of reading: `reduction`, `expectations` and `closed_forms` (Section 4), `tightness` and `extremal`
(Section 5), `parameters` and `metric` (Tables 1, 2, 5), `several_messages` (Table 3, Figures 3 and 4),
`parallel_queries` (Section 6, Figure 5), `rounds` (Section 7) and `numbers` (Section 8).
"""
