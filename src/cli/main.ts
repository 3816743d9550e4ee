#!/usr/bin/env node
/** The executable. */
import { runCommandLine } from './command-line.ts'

await runCommandLine(process.argv.slice(2))
