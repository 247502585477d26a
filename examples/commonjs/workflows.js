// Your own workflows stay as they are; the first line adds `conductorSolve`.
Object.assign(exports, require('temporal-conductor/workflows'));

exports.greet = async (name) => `Hello, ${name}!`;
