/** A file that is dropped on a part of the page. */
import { useState } from 'preact/hooks'

export interface FileDrop {
  readonly isOver: boolean
  readonly handlers: {
    readonly onDragOver: (event: DragEvent) => void
    readonly onDragLeave: (event: DragEvent) => void
    readonly onDrop: (event: DragEvent) => void
  }
}

export function useFileDrop(onFile: (file: File) => void): FileDrop {
  const [isOver, setIsOver] = useState(false)
  return {
    isOver,
    handlers: {
      onDragOver(event) {
        if (event.dataTransfer?.types.includes('Files') !== true) return
        // else the browser would open the file
        event.preventDefault()
        setIsOver(true)
      },
      onDragLeave(event) {
        const to = event.relatedTarget
        if (!(to instanceof Node && (event.currentTarget as Node).contains(to))) setIsOver(false)
      },
      onDrop(event) {
        const file = event.dataTransfer?.files[0]
        if (!file) return
        event.preventDefault()
        setIsOver(false)
        onFile(file)
      },
    },
  }
}
