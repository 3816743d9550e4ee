/**
 * A real Chromium: the one that `SMALT_TEST_CHROMIUM` names, else that of the package `@sparticuz/chromium`, unpacked once
 * into `node_modules/.cache`. The package brings libraries for machines that lack them.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache')

export async function launchChromium(): Promise<Browser> {
  const named = process.env['SMALT_TEST_CHROMIUM']
  const folder = named === undefined ? unpacked() : undefined
  const executablePath = named ?? join(folder!, 'chromium')
  const env = folder === undefined ? {} : environmentFor(folder, executablePath)
  return await chromium.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'],
    env: { ...(process.env as Record<string, string>), ...env },
  })
}

/** The folder of the unpacked browser. Another process may unpack at the same time; the first one to finish wins. */
function unpacked(): string {
  const source = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../..')
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string }
  const folder = join(CACHE, `chromium-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  const own = mkdtempSync(join(CACHE, 'unpacking-'))
  writeFileSync(join(own, 'chromium'), inflated(source, 'chromium.br'), { mode: 0o755 })
  for (const name of ['fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br']) {
    const target = join(own, name.split('.')[0]!)
    mkdirSync(target)
    execFileSync('tar', ['-x', '-C', target], { input: inflated(source, name) })
  }
  try {
    renameSync(own, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    rmSync(own, { recursive: true })
  }
  return folder
}

function inflated(source: string, name: string): Buffer {
  return brotliDecompressSync(readFileSync(join(source, 'bin', name)))
}

/** Libraries and fonts of the package, only where the machine has none: its own fit better. */
function environmentFor(folder: string, executablePath: string): Readonly<Record<string, string>> {
  const { stdout } = spawnSync('ldd', [executablePath], { encoding: 'utf8' })
  const lacksLibraries = stdout?.includes('not found') ?? false
  return {
    ...(lacksLibraries && { LD_LIBRARY_PATH: join(folder, 'al2023/lib') }),
    ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts/fonts') }),
  }
}
