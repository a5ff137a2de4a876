import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;

/** What Java is used for in builds: files, channels, archives, threads, other processes. */
public class Work {
    static long sum(Path path) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(Files.readAllBytes(path));
        return crc.getValue();
    }

    public static void main(String[] args) throws Exception {
        Path out = Files.createDirectories(Path.of("out"));
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> sums = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Path file = out.resolve(i + ".txt");
            String text = (i + "\n").repeat(2000);
            sums.add(pool.submit(() -> sum(Files.writeString(file, text))));
        }
        long all = 0;
        for (Future<Long> one : sums) all += one.get();
        pool.shutdown();
        System.out.println(all);
        Path archive = Path.of("all.zip");
        try (ZipOutputStream zip = new ZipOutputStream(new FileOutputStream(archive.toFile()))) {
            for (int i = 0; i < 100; i++) {
                ZipEntry entry = new ZipEntry(i + ".txt");
                entry.setTime(1700000000000L);
                zip.putNextEntry(entry);
                Files.copy(out.resolve(i + ".txt"), zip);
            }
        }
        System.out.println(sum(archive));
        try (RandomAccessFile file = new RandomAccessFile("mapped", "rw")) {
            FileChannel channel = file.getChannel();
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
            for (int i = 0; i < 1 << 20; i += 8) map.putLong(i, i);
            channel.write(ByteBuffer.allocate(1 << 20), 1 << 20);
            channel.transferTo(0, 1 << 21, new FileOutputStream("copied").getChannel());
        }
        System.out.println(sum(Path.of("copied")));
        Process child = new ProcessBuilder("sh", "-c", "cat out/*.txt | wc -c; exit 7").start();
        System.out.println(new String(child.getInputStream().readAllBytes()).trim() + " " + child.waitFor());
        System.err.println("done");
        System.exit(3);
    }
}
