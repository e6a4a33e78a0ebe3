"""A model repository in a Triton server, by its HTTP interface, and a server that only seems to be one.

The interface is that of Triton's published pages ("Model Repository Extension", "Binary Tensor Data Extension") and of
its client: models are loaded with their files in the request, so that the server needs nothing of this machine but the
option --model-control-mode=explicit. Emulated knows the same requests and runs ensembles in ONNX Runtime, by their
config files (triton_repository.py)."""
import base64
import contextlib
import http.server
import json
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import triton_repository as triton
from google.protobuf import json_format, text_format

HEADER = "Inference-Header-Content-Length"
# Types of the interface by those of numpy.
TYPES = {"bool": "BOOL", "float16": "FP16", "float32": "FP32", "float64": "FP64",
         **{f"{sign}int{n}": f"{sign.upper()}INT{n}" for sign in ("", "u") for n in (8, 16, 32, 64)}}
NUMPY = {word: kind for kind, word in TYPES.items()}


def packed(said, arrays):
    """A body: JSON, which gets "name", "shape", ... of each array, and their bytes behind it; and the JSON's length."""
    rows = [{"name": name, "shape": list(a.shape), "datatype": TYPES[a.dtype.name],
             "parameters": {"binary_data_size": a.nbytes}} for name, a in arrays.items()]
    text = json.dumps({k: rows if v is None else v for k, v in said.items()}).encode()
    return b"".join([text, *(np.ascontiguousarray(a).tobytes() for a in arrays.values())]), len(text)


def unpacked(body, length, key):
    """The arrays of a body, by name."""
    at, found = length, {}
    for row in json.loads(body[:length])[key]:
        n = row["parameters"]["binary_data_size"]
        found[row["name"]] = np.frombuffer(body[at:at + n], NUMPY[row["datatype"]]).reshape(row["shape"])
        at += n
    return found


class Server:
    """A server at a URL. Raises RuntimeError with what it answers."""

    def __init__(self, url):
        self.url = url.rstrip("/")

    def ask(self, path, body=b"", headers=None):
        request = urllib.request.Request(f"{self.url}/v2/{path}", body, headers or {}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.read(), answer.headers
        except urllib.error.HTTPError as e:
            raise RuntimeError(f"{path}: {e.code} {e.read()[:300]!r}") from e

    def load(self, folder):
        """Loads the model in a folder of a repository."""
        config = text_format.Parse((folder / "config.pbtxt").read_text(encoding="utf-8"), triton.Config())
        said = {"config": json_format.MessageToJson(config, preserving_proto_field_name=True)}
        names = [p for p in sorted((folder / "1").iterdir()) if p.is_file()]
        for path in names:
            said[f"file:1/{path.name}"] = base64.b64encode(path.read_bytes()).decode()
        if not names:  # of an ensemble: there is a version all the same
            said["file:1/empty"] = ""
        self.ask(f"repository/models/{folder.name}/load", json.dumps({"parameters": said}).encode(),
                 {"Content-Type": "application/json"})

    def unload(self, name):
        self.ask(f"repository/models/{name}/unload")

    def infer(self, name, inputs):
        body, length = packed({"inputs": None, "parameters": {"binary_data_output": True}}, inputs)
        made, headers = self.ask(f"models/{name}/infer", body, {HEADER: str(length)})
        return unpacked(made, int(headers[HEADER]), "outputs")

    def run(self, repository, inputs):
        """The outputs of the repository's ensemble, which is loaded last, and is gone afterwards."""
        configs = triton.read(repository)
        parts = [n for n, c in configs.items() if c.platform != "ensemble"]
        ensemble = next(n for n in configs if n not in parts)
        for name in (*parts, ensemble):
            self.load(Path(repository) / name)
        try:
            return self.infer(ensemble, inputs)
        finally:
            for name in (ensemble, *parts):
                self.unload(name)


class Emulated(http.server.BaseHTTPRequestHandler):
    """Answers what Server asks. server.folder: the repository that is loaded; server.asked: the requests."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        kind, name, what = self.path.removeprefix("/v2/").removeprefix("repository/").split("/")
        self.server.asked.append(f"{what} {name}")
        try:
            made = getattr(self, what)(self.server.folder / name, body) if kind == "models" else None
        except Exception as e:  # as a server answers
            made = e
        text, length = made if isinstance(made, tuple) else (json.dumps({"error": repr(made)}).encode(), 0)
        self.send_response(400 if isinstance(made, Exception) else 200)
        self.send_header("Content-Length", str(len(text)))
        self.send_header(HEADER, str(length))
        self.end_headers()
        self.wfile.write(text)

    def load(self, folder, body):
        said = json.loads(body)["parameters"]
        (folder / "1").mkdir(parents=True)
        (folder / "config.pbtxt").write_text(str(json_format.Parse(said.pop("config"), triton.Config())))
        for path, data in said.items():
            (folder / path.removeprefix("file:")).write_bytes(base64.b64decode(data))
        return b"", 0

    def unload(self, folder, _):
        folder.rename(folder.parents[1] / folder.name)
        return b"", 0

    def infer(self, folder, body):
        repository = folder.parent
        configs = triton.read(repository)
        wrong = list(triton.complaints(configs, repository))
        if wrong or configs[folder.name].platform != "ensemble":
            raise ValueError(wrong)
        made, wrong = triton.run(repository, configs, unpacked(body, int(self.headers[HEADER]), "inputs"))
        if wrong:
            raise ValueError(wrong)
        return packed({"outputs": None}, made)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def emulated():
    """A server that seems to be Triton's: its URL, and the requests that it gets."""
    with tempfile.TemporaryDirectory() as temp:
        server = http.server.HTTPServer(("127.0.0.1", 0), Emulated)
        server.folder, server.asked = Path(temp) / "models", []
        server.folder.mkdir()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", server.asked
        finally:
            server.shutdown()
            server.server_close()
