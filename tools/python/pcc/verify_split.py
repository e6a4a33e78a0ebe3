"""python -m pcc.verify_split: compares the parts of a split with the whole model (tools/verify_split.py)."""
from ._program import script

if __name__ == "__main__":
    script("verify_split.py")
