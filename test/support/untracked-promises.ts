/**
 * `node:test` follows every promise, so that it knows which test an uncaught error belongs to. That makes an `await` thirty
 * times as expensive, and took a third of the processor time of tests that call the service in their own process. With this
 * module its hook works as if it were created with `trackPromises: false`, an option of Node.js that `node:test` does not
 * use. An uncaught error, which it often cannot attribute to a test any more, fails the file.
 */
import { type AsyncHook, createHook } from 'node:async_hooks'

type Hook = AsyncHook & Record<symbol, unknown>

const untracked = createHook({ trackPromises: false }) as Hook
const prototype = Object.getPrototypeOf(untracked) as AsyncHook
const option = Object.getOwnPropertySymbols(untracked).find((key) => untracked[key] === true)
const original = Object.getOwnPropertyDescriptor(prototype, 'enable')!
let registered: Promise<void> = Promise.resolve()

/** A suite that defines tests after an `await` needs the tracking until it has done so. */
export function trackUntil(allRegistered: Promise<void>): void {
  registered = allRegistered
}

// `node:test` creates its hook, the only one of the process, when the first test is defined.
prototype.enable = function enableOnce(this: Hook) {
  Object.defineProperty(prototype, 'enable', original)
  // after the modules that are loaded together: one of them may say how long to wait
  queueMicrotask(() => void registered.then(() => stopTracking(this)))
  collectUncaught()
  return this.enable()
}

function stopTracking(hook: Hook): void {
  if (option === undefined) return
  hook.disable()
  hook[option] = true
  hook.enable()
}

const uncaught: unknown[] = []

/** Only where tests run: other programs that load this module end at an uncaught error, as Node.js does. */
function collectUncaught(): void {
  for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection']) {
    process.on(event, (error: unknown) => {
      process.exitCode = 1
      console.error(error)
      uncaught.push(error)
    })
  }
}

/** Where several files share a process, fails the one whose tests have just ended. */
export function throwUncaught(): void {
  const errors = uncaught.splice(0)
  if (errors.length > 0) throw new AggregateError(errors, 'an error was not caught')
}
