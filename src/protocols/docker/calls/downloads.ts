import type { Clock } from '../../../base/async/clock.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import type { Download } from '../../cri/containerd/containerd-downloads.ts'

/** The pull of one image as it goes on. */
interface DownloadNotes {
  /** Takes a line of Docker's answer. */
  note(line: Readonly<Record<string, unknown>>): void
  end(): void
}

/** What Docker downloads now, as it reports it in the answers of our pulls. */
export class Downloads {
  readonly #clock: Clock
  readonly #pulls = new Set<Map<string, Download>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(image: string): DownloadNotes {
    const parts = new Map<string, Download>()
    const startedAt = this.#clock.now()
    this.#pulls.add(parts)
    return {
      note: ({ id, status, progressDetail }) => {
        if (typeof id !== 'string' || status !== 'Downloading' || !isRecord(progressDetail)) return
        const { current: doneBytes, total: totalBytes = 0 } = progressDetail
        if (typeof doneBytes !== 'number' || typeof totalBytes !== 'number') return
        parts.set(id, { ref: `${image} ${id}`, startedAt, doneBytes, totalBytes })
      },
      end: () => {
        this.#pulls.delete(parts)
      },
    }
  }

  list(): readonly Download[] {
    return [...this.#pulls].flatMap((parts) => [...parts.values()])
  }
}
