import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { FakeClock } from './fake-clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { logFiles } from '../../src/system/directories/logs/log-files.ts'
import { rotateLog } from '../../src/pods/logs/rotate-log.ts'

/** A container that prints lines into its log as a runtime does, and whose log is rotated by our own rotation. */
export class FakeContainerLog implements Disposable {
  readonly path: string
  readonly #clock = new FakeClock()
  readonly #maxFiles: number
  #descriptor: number
  #second = 0

  constructor(path: string, maxFiles = 100) {
    mkdirSync(dirname(path), { recursive: true })
    this.path = path
    this.#maxFiles = maxFiles
    this.#descriptor = openSync(path, 'a')
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor)
  }

  /** Each line one second after the one before. */
  print(text: string, stream: 'stdout' | 'stderr' = 'stdout', tag: 'F' | 'P' = 'F'): void {
    const time = new Date(Date.UTC(2026, 0, 1) + this.#second * 1000).toISOString().replace('.000Z', '.5Z')
    this.#second += 1
    writeSync(this.#descriptor, `${time} ${stream} ${tag} ${text}\n`)
  }

  /** What the runtime has in hand goes to the old file even after the new one is there. */
  async rotate(inHand: () => void = () => {}): Promise<void> {
    await this.#clock.advance(1000)
    const reopenContainerLog = async () => {
      const old = this.#descriptor
      const next = openSync(this.path, 'a')
      inHand()
      this.#descriptor = next
      closeSync(old)
      return {}
    }
    // A log may be empty, and is rotated all the same.
    await rotateLog(
      {
        calls: { reopenContainerLog },
        files: logFiles,
        limits: { maxSizeBytes: 0, maxFiles: this.#maxFiles },
        clock: this.#clock,
        log: silentLogger,
      },
      { containerId: 'c1', logPath: this.path, pod: 'default/web', name: 'web' },
      new AbortController().signal,
    )
  }

  /** Everything that is in the directory. */
  files(): string[] {
    return readdirSync(dirname(this.path)).sort()
  }
}
