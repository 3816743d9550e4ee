/**
 * Locates the file of a worker thread: the published package is JavaScript, the repository TypeScript. Each such file is
 * also an entry of the bundle in `vite.config.ts`.
 */

/** `name` has no extension; `importer` is the `import.meta.url` of the module beside the file. */
export function workerFile(name: string, importer: string): URL {
  const extension = importer.endsWith('.ts') ? '.ts' : '.js'
  return new URL(`./${name}${extension}`, importer)
}
