"""Whether two models compute the same: ONNX Runtime, optimisations off, on the same random inputs, equal bits.
Without onnx, numpy or ONNX Runtime an import of this ends the test as skipped (77)."""
import gc
import json
import subprocess

from with_ort import PCC  # first: it skips the test without ONNX Runtime
import verify_split as v

gc.freeze()  # collections then pass over the libraries' objects


def ask_sizes(model, dims):
    """What pcc says of the sizes of a model's inputs: an object with "dims" and "inputs", as a manifest has them."""
    said = [f"--dim={name}={size}" for name, size in dims.items()]
    r = subprocess.run([PCC, str(model), "--emit=sizes", "-q", "-Wno-guessed-dim", *said],
                       capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip().removeprefix("pcc: "))
    return json.loads(r.stdout)


class Runs:
    """A model with inputs that it runs on, and its outputs; `why_not`: it does not run, and why.  Inputs are those of a
    folder of input_K.pb files, if there is one, else random."""

    def __init__(self, path, folder=None, seed=0):
        self.why_not, self.half = None, False
        try:
            session = v.open_session(path)
            infos = session.get_inputs()
        except Exception as e:  # ONNX Runtime has no common class for its errors
            self.why_not = v.first_line(e)
            return
        self.half = bool(v.half_values(path))
        given = folder and folder.is_dir()
        sizes = None if given else v.sizes_of(ask_sizes(path, {}))
        for integers in (None, 1, 0):
            try:
                self.inputs = v.read_inputs(infos, folder) if given else v.random_inputs(infos, sizes, seed, integers)
                self.outputs = v.run_session(session, self.inputs)
                self.why_not = None
                return
            except Exception as e:
                self.why_not = self.why_not or v.first_line(e)

    def difference(self, path):
        """What another model makes of the same inputs otherwise; None: nothing.  Where float16 is computed in float32
        on the way, results are close."""
        try:
            outputs = v.run_session(v.open_session(path), self.inputs)
        except Exception as e:
            return f"does not run: {v.first_line(e)}"
        gc.collect()
        if list(outputs) != list(self.outputs):
            return f"outputs {list(outputs)}, not {list(self.outputs)}"
        for name, value in self.outputs.items():
            wrong = v.difference(value, outputs[name], rounding=v.TOLERANCE * self.half)
            if wrong:
                return f"'{name}': {wrong}"
        return None
