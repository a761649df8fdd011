import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A real dbus-daemon of our own, on which every client may do everything. */
export interface FakeBus {
  readonly address: string
  /** Every connection is lost, and it no longer listens. */
  stop(): Promise<void>
}

export async function startFakeBus(t: { after(work: () => Promise<void>): void }): Promise<FakeBus> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-bus-'))
  const address = `unix:path=${join(folder, 'bus')}`
  writeFileSync(
    join(folder, 'bus.conf'),
    `<busconfig><type>session</type><listen>${address}</listen><policy context="default">
      <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
    </policy></busconfig>`,
  )
  const daemon = spawn('dbus-daemon', [`--config-file=${join(folder, 'bus.conf')}`, '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(daemon, 'exit')
  const stop = async () => {
    daemon.kill('SIGKILL')
    await ended
  }
  t.after(async () => {
    await stop()
    rmSync(folder, { recursive: true })
  })
  await once(daemon.stdout, 'data') // It says its address when it listens.
  return { address, stop }
}
