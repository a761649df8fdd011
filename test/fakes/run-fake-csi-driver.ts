/**
 * The fake CSI driver as a process, for tests that need it in a mount namespace of its own. It prints each call as a line of JSON
 * and ends with SIGTERM, its socket with it. With "diesIn" it kills itself when it
 * has done what that method asks for, before the answer.
 * Usage: run-fake-csi-driver.ts SOCKET [OPTIONS_AS_JSON]
 */
import { rmSync } from 'node:fs'
import process from 'node:process'
import { FakeCsiDriver } from './fake-csi-driver.ts'
import type { FakeCsiDriverOptions } from './fake-csi-driver.ts'

const [path = '', options = '{}'] = process.argv.slice(2)
const { maxVolumes, diesIn, ...rest } = JSON.parse(options) as Omit<FakeCsiDriverOptions, 'maxVolumes'> & {
  maxVolumes?: number
  diesIn?: string
}
// One that was killed leaves its socket.
rmSync(path, { force: true })
const driver = await FakeCsiDriver.start(path, {
  ...rest,
  ...(maxVolumes !== undefined && { maxVolumes: BigInt(maxVolumes) }),
  onCall: (call) => {
    const line = JSON.stringify(call, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
    process.stdout.write(`${line}\n`)
  },
  onDone: (method) => {
    if (method === diesIn) process.kill(process.pid, 'SIGKILL')
  },
})
process.stdout.write(`${JSON.stringify({ method: 'ready' })}\n`)
process.once('SIGTERM', () => {
  driver[Symbol.dispose]()
  process.exit(0)
})
