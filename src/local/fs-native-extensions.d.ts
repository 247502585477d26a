declare module 'fs-native-extensions' {
  /** Locks an open file, by default exclusively. Returns false if another open file holds a conflicting lock. */
  export function tryLock(fd: number, options?: { readonly shared?: boolean }): boolean;
}
