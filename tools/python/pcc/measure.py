"""python -m pcc.measure: measures nodes in ONNX Runtime, for --costs (tools/measure.py)."""
from ._program import script

if __name__ == "__main__":
    script("measure.py")
