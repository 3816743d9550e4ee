#!/usr/bin/env node
/** The executable. It imports the rest only after its check: an older Node.js could not even parse it. */

/** As `engines` in package.json. */
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
