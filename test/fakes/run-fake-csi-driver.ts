/**
 * The fake CSI driver as a process, for tests that need it in a mount namespace of its own. It prints each call as a line of JSON
 * and ends with SIGTERM, its socket with it.
 * Usage: run-fake-csi-driver.ts SOCKET [OPTIONS_AS_JSON]
 */
import process from 'node:process'
import { FakeCsiDriver } from './fake-csi-driver.ts'
import type { FakeCsiDriverOptions } from './fake-csi-driver.ts'

const [path = '', options = '{}'] = process.argv.slice(2)
const { maxVolumes, ...rest } = JSON.parse(options) as Omit<FakeCsiDriverOptions, 'maxVolumes'> & {
  maxVolumes?: number
}
const driver = await FakeCsiDriver.start(path, {
  ...rest,
  ...(maxVolumes !== undefined && { maxVolumes: BigInt(maxVolumes) }),
  onCall: (call) => {
    const line = JSON.stringify(call, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
    process.stdout.write(`${line}\n`)
  },
})
process.stdout.write(`${JSON.stringify({ method: 'ready' })}\n`)
process.once('SIGTERM', () => {
  driver[Symbol.dispose]()
  process.exit(0)
})
