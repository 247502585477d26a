// Your own workflows stay as they are; this one line adds `solve`.
export * from 'temporal-conductor/workflows';

export async function greet(name) {
  return `Hello, ${name}!`;
}
