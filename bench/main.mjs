// `npm run bench [-- crowd [SOLVES] | against FOLDER | live [postgres://…] | gateway [VENV] | tools | watched [ROUNDS] | --quick]`
const [name] = process.argv.slice(2);
const isNamed = ['crowd', 'against', 'live', 'gateway', 'tools', 'watched'].includes(name);
if (isNamed) process.argv.splice(2, 1);
await import(isNamed ? `./${name}.mjs` : './durability.mjs');
