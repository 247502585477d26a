/** Says that it runs, then waits for a line. */
console.log(JSON.stringify({ pid: process.pid }));
process.stdin.once('data', () => process.exit(0));
