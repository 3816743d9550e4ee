/** Exports what a table shows as NDJSON: one document per line, read page by page. */
import { noteFailure } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { printJson } from '../../client/json.ts'
import type { Find } from '../../client/types.ts'

const PAGE = 1_000
/** What a browser can hold in memory with ease; more is a task for the command line. */
const MAX_DOCUMENTS = 100_000

export async function exportFound(find: Find, total: number): Promise<void> {
  if (total > MAX_DOCUMENTS) {
    const text = `The page exports at most ${MAX_DOCUMENTS.toLocaleString('en')} documents; filter first, or use ?stream=true.`
    showToast({ kind: 'failed', text })
    return
  }
  try {
    const parts: string[] = []
    let after: string | undefined
    do {
      const page = { size: PAGE, ...(after !== undefined && { after }) }
      const { documents, next } = await client.find({ ...find, page })
      for (const each of documents) parts.push(`${printJson(each)}\n`)
      after = next
      // documents may be added while they are read
    } while (after !== undefined && parts.length < MAX_DOCUMENTS)
    download(`${find.entity}.ndjson`, new Blob(parts, { type: 'application/x-ndjson' }))
    showToast({ kind: 'done', text: `Exported ${parts.length.toLocaleString('en')} documents.` })
  } catch (failure) {
    noteFailure(failure)
    showToast({ kind: 'failed', text: `The export failed: ${(failure as Error).message}` })
  }
}

/** Lets the browser save it as a file. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
