import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StatusResponse } from './generated/runtime-v1.ts'
import { findCdiFault } from './find-cdi-fault.ts'

const never = new AbortController().signal
const OFF = 'CDI is off in the configuration of containerd, set enable_cdi of its CRI plugin'

describe('findCdiFault()', () => {
  for (const [name, version, config, expected] of [
    ['containerd', '1.6.20~ds1', '{}', 'containerd 1.6.20~ds1 has no CDI, containerd has it from 1.7 on'],
    ['containerd', '1.7.24~ds1', '{"enableCDI":false,"cdiSpecDirs":["/etc/cdi"]}', OFF],
    ['containerd', '1.7.24~ds1', '{"enableCDI":true}', undefined],
    ['containerd', 'v2.1.9', '{"enableCDI":false}', OFF],
    ['containerd', 'v2.3.0', '{}', undefined],
    ['containerd', 'v2.3.0', '{', undefined],
    ['containerd', 'v2.3.0', undefined, undefined],
    ['containerd', 'a1b2c3d', '{"enableCDI":false}', undefined],
    ['cri-o', '1.20.0', undefined, undefined],
    ['docker', '20.10.24', undefined, undefined],
  ] as const) {
    test(`${name} ${version}, configured ${config}`, async () => {
      const status = async () => StatusResponse.fromPartial({ info: config === undefined ? {} : { config } })
      assert.equal(await findCdiFault({ status }, { name, version }, never), expected)
    })
  }
})
