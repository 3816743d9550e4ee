/**
 * One browser for all tests of this process, closed after the last of them: to start one takes longer than many tests in
 * it. Tests share nothing in it: each has a context of its own.
 */
import { after } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'

let started: Promise<Browser> | undefined

after(async () => (await started?.catch(() => undefined))?.close())

export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return await (await chromium()).newContext(options)
}

/** One that has crashed, or did not start, fails the test that used it, and no other. */
async function chromium(): Promise<Browser> {
  const browser = await started?.catch(() => undefined)
  if (browser?.isConnected()) return browser
  started = launch()
  return await started
}

/** Loaded only now: most processes with tests need no browser. */
async function launch(): Promise<Browser> {
  const { launchChromium } = await import('./chromium.ts')
  return await launchChromium()
}
