/**
 * A client of generated types that uses every operation, as a program of a user would. It prints the operations that it
 * sent when all have answered as they should.
 */
import { sentOperations } from './client.ts'
import { callData } from './data-calls.ts'
import { callDocuments } from './document-calls.ts'
import { callEvents } from './event-calls.ts'
import { changeMetadata, readMetadata, removeMetadata } from './metadata-calls.ts'
import { callReads } from './read-calls.ts'
import { callService } from './service-calls.ts'

await changeMetadata()
await readMetadata()
await callData()
await callReads()
await callDocuments()
await callEvents()
await callService()
await removeMetadata()
console.log(JSON.stringify(sentOperations()))
