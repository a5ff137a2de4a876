// What node is used for in builds: files, streams, compression, hashes, other processes, a server, threads.
const fs = require('fs');
const { createHash } = require('crypto');
const { execFileSync, spawn } = require('child_process');
const { pipeline } = require('stream/promises');
const { createGzip, gunzipSync } = require('zlib');
const http = require('http');
const { Worker } = require('worker_threads');

const hash = (data) => createHash('sha256').update(data).digest('hex');

async function main() {
  fs.mkdirSync('out/a/b', { recursive: true });
  for (let i = 0; i < 200; i++) fs.writeFileSync(`out/a/b/${i}.txt`, `${i}\n`.repeat(500));
  const names = fs.readdirSync('out/a/b').sort();
  console.log(names.length, hash(names.map((name) => fs.readFileSync(`out/a/b/${name}`)).join('')));
  fs.writeFileSync('large', Buffer.alloc(3000000, 'abc'));
  await pipeline(fs.createReadStream('large'), createGzip(), fs.createWriteStream('large.gz'));
  console.log(hash(gunzipSync(fs.readFileSync('large.gz'))));
  await Promise.all(names.map((name) => fs.promises.copyFile(`out/a/b/${name}`, `out/${name}`)));
  console.log(execFileSync('sh', ['-c', 'cat out/*.txt | wc -c']).toString().trim());
  const child = spawn('sh', ['-c', 'echo from a child; exit 7']);
  child.stdout.pipe(fs.createWriteStream('said'));
  console.log(await new Promise((resolve) => child.on('close', resolve)));
  const server = http.createServer((_, response) => response.end(fs.readFileSync('large'))).listen(0);
  await new Promise((resolve) => server.on('listening', resolve));
  const reply = await new Promise((resolve) => http.get({ port: server.address().port }, resolve));
  let bytes = 0;
  for await (const part of reply) bytes += part.length;
  server.close();
  console.log(bytes);
  const code = "require('fs').writeFileSync('of-thread', 'x'.repeat(100000))";
  console.log(await new Promise((resolve) => new Worker(code, { eval: true }).on('exit', resolve)));
  console.error('done');
  process.exitCode = 3;
}

main();
