"""A private certificate authority, made with openssl."""

import datetime
import pathlib
import subprocess

NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

CONFIGURATION = """
[ca]
default_ca = here
[here]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = anything
unique_subject = no
copy_extensions = copy
[anything]
commonName = supplied
"""


def openssl(*arguments):
    subprocess.run(
        ["openssl", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Certificate:
    """The files of one certificate and its key."""

    def __init__(self, file, key):
        self.file = file
        self.key = key


class Authority:
    def __init__(self, folder, name):
        self.name = name
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.file = self.folder / "ca.pem"
        self.key = self.folder / "ca.key"
        self._made = 0
        openssl("req", "-x509", *NEW_KEY, "-days", 3650, "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.file)
        (self.folder / "index.txt").touch()
        (self.folder / "ca.conf").write_text(CONFIGURATION.format(folder=self.folder))

    @property
    def pem(self):
        return self.file.read_text()

    def certify(self, *names, days=(-1, 30)):
        """Returns a certificate for these names that is valid between these two days, counted from today."""
        self._made += 1
        base = self.folder / f"one{self._made}"
        key, request, file = (base.with_suffix(end) for end in (".key", ".csr", ".pem"))
        names = ",".join(f"DNS:{name}" for name in names)
        openssl("req", *NEW_KEY, "-subj", "/CN=test", "-addext", f"subjectAltName={names}", "-keyout", key, "-out", request)
        start, end = (self._moment(day) for day in days)
        openssl("ca", "-batch", "-notext", "-config", self.folder / "ca.conf", "-cert", self.file, "-keyfile", self.key,
                "-startdate", start, "-enddate", end, "-in", request, "-out", file)
        return Certificate(file, key)

    @staticmethod
    def _moment(day):
        return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=day)).strftime("%Y%m%d%H%M%SZ")
