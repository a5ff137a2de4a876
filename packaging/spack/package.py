# For a Spack repository: packages/tmio/package.py. Replace the address and the checksum by those of the tarball
# tmio-VERSION-vendored.tar.xz that your site keeps; the checksum is in SHA256SUMS beside it.
from spack.package import *


class Tmio(Package):
    """libtmio.so records the I/O of MPI and other programs; ftio finds the period of their I/O phases and
    predicts the next one."""

    homepage = "https://example.org/tmio"
    url = "https://example.org/tmio/tmio-0.2.0-vendored.tar.xz"

    license("BSD-3-Clause")

    version("0.2.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    # The crates are in the tarball: no network is needed. SQLite in `ftio serve` is compiled from its source.
    depends_on("rust@1.88:", type="build")
    depends_on("c", type="build")

    def install(self, spec, prefix):
        # Built with the compiler and the C library of this machine.
        Executable(join_path(self.stage.source_path, "scripts", "install"))("--native", prefix)

    def setup_run_environment(self, env):
        env.set("TMIO_LIBRARY", join_path(self.prefix.lib, "libtmio.so"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.ftio)("--version")
        Executable(self.prefix.bin.ftio)("trace", "--dry-run", "--", "mpirun", "-n", "2", "true")
