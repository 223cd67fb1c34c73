"""What runs foreign code, and nothing that judges it: it can stand in a process of its own.

Of this package it needs the contract, what written bindings call, and how a file is read. It knows no reference, no
check, mutant, tolerance, seed or verdict.
"""
