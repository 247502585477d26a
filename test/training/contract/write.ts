// `npm run generate`: writes what the Python side checks its messages against.
import { writeFileSync } from 'node:fs';
import { CONTRACT_PATH, contractJson } from './contract-json';

writeFileSync(CONTRACT_PATH, contractJson());
console.error(`${CONTRACT_PATH} is written anew: commit it with the contract.`);
