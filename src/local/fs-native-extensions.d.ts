declare module 'fs-native-extensions' {
  /** Takes the lock on an open file, by default the exclusive one; false where another open file holds it. */
  export function tryLock(fd: number, options?: { readonly shared?: boolean }): boolean;
}
