// Your own workflows stay where they are; this one line adds `solve`.
Object.assign(exports, require('temporal-conductor/workflows'));

exports.greet = async (name) => `Hello, ${name}!`;
