"""python -m pcc"""
from ._program import pcc

pcc()
