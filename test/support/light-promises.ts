/**
 * Loaded before the test runner, which follows every promise to tell to which test an error belongs that nobody caught:
 * to services that is a good part of their time. It goes on following all else, and such an error fails its file, told
 * here with all that is known of it, but with or without the name of a test.
 */
import asyncHooks from 'node:async_hooks'

const { createHook } = asyncHooks

asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })

process.on('uncaughtExceptionMonitor', (error) => console.error(error))

/** To import anything of `node:http` is to load these, and a whole client with them that no test needs. */
const UNUSED = ['WebSocket', 'CloseEvent', 'MessageEvent']

const http = process.getBuiltinModule('node:http')
for (const name of UNUSED) Reflect.deleteProperty(http, name)
