import type { Clock } from '../../../base/async/clock.ts'
import { writeFileDurably, setAside } from './durable-file.ts'
import type { StateFile } from './state-file.ts'
import { readTextIfPresent } from '../files-and-folders.ts'

const FILE_MODE = 0o600

/** One file in which an agent keeps what the next one has to know. */
export function createStateFile(path: string, clock: Pick<Clock, 'now'>): StateFile {
  return {
    path,
    read: () => readTextIfPresent(path),
    write: (text: string) => writeFileDurably(path, text, { mode: FILE_MODE }),
    async setAside(): Promise<string> {
      const suffix = `.broken-${clock.now()}`
      await setAside([path], suffix)
      return `${path}${suffix}`
    },
  }
}
