import Database from 'libsql';

/** Lets everything that lies below a prefix of a SQLite store have been written so many milliseconds earlier. */
export function ageStore(path: string, byMs: number, prefix = ''): void {
  const database = new Database(path, { timeout: 30_000 });
  database.exec(`UPDATE entries SET modified = modified - ${byMs} WHERE key GLOB '${prefix}*'`);
  database.close();
}
