import { Writable } from 'node:stream'
import type { Clock } from '../../../base/async/clock.ts'
import { streamProcess } from '../../../system/processes/stream-process.ts'
import type { StreamRequest } from '../../../system/processes/stream-process.ts'
import { ctrCommand, machineArchitecture } from '../import-images.ts'
import type { ImageArchives } from './image-archives.ts'

// As long as the archive is large; the user can stop it.
const DEADLINE_MS = 24 * 3_600_000

/** Archives of a containerd, through its own client. */
export function createContainerdArchives(clock: Clock, socket: string): ImageArchives {
  const run = async (args: readonly string[], streams: Pick<StreamRequest, 'source' | 'sink'>, signal: AbortSignal) => {
    const argv = ctrCommand({ paths: { socket }, enter: [] }, 'images', ...args)
    const { exitCode, stderr } = await streamProcess(clock, { argv, deadlineMs: DEADLINE_MS, ...streams }, signal)
    if (exitCode !== 0) throw new Error(stderr.trim().replace(/^ctr: /, '') || `ctr ended with ${exitCode}`)
  }
  return {
    load: (source, signal) => run(['import', '-'], { source, sink: createVoid() }, signal),
    // An image for several platforms has only the parts for this one here.
    save: (names, sink, signal) =>
      run(['export', '--platform', `linux/${machineArchitecture}`, '-', ...names], { sink }, signal),
    untag: (name, signal) => run(['rm', name], { sink: createVoid() }, signal),
  }
}

function createVoid(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
