/** SQLite's result codes that mean something to us; never its messages. */
const CONSTRAINT = 19

export function isConstraintError(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  return code !== undefined && (code & 0xff) === CONSTRAINT
}
