#!/usr/bin/env node
/**
 * The executable. It checks the version of Node.js before it imports the rest, which an older version could
 * not parse.
 */

/** The same as `engines` in package.json. */
const OLDEST_NODE = 24

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  process.stderr.write(
    `smalt: Node.js ${OLDEST_NODE} or newer is needed, but this is ${process.versions.node}\n`,
  )
  process.exitCode = 1
} else {
  const { runCommandLine } = await import('./command-line.ts')
  await runCommandLine(process.argv.slice(2))
}
