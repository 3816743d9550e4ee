/** A process of its own that delivers, to be killed by tests: LOCATION, how many EVENTS, and how long a lease lives. */
import { deliver, manyEvents } from '../../service/sinks/delivering.ts'
import { openSinks } from '../../service/sinks/stores.ts'

const [location, count, ttlMs] = process.argv.slice(2) as [string, string, string]
const timing = { ttlMs: Number(ttlMs), renewMs: Number(ttlMs) / 3, pollMs: Number(ttlMs) / 5 }
deliver(openSinks(location), manyEvents(Number(count)), timing)
process.send?.('ready')
