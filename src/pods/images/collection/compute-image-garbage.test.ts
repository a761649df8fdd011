import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  computeBytesToFree,
  computeExpired,
  computeRemovable,
  computeUsagePercent,
  formatSize,
} from './compute-image-garbage.ts'
import type { KnownImage } from './compute-image-garbage.ts'

const NOW = 1_000_000
const image = (id: string, fields: Partial<KnownImage> = {}): KnownImage => ({
  runtimeHandler: '',
  id,
  sizeBytes: 100,
  pinned: false,
  inUse: false,
  firstSeenAt: 0,
  lastUsedAt: undefined,
  ...fields,
})
const ids = (images: readonly KnownImage[]) => images.map(({ id }) => id).join(' ')

describe('computeBytesToFree()', () => {
  const rows: [capacity: number, available: number, percent: number, bytes: number | undefined][] = [
    [1000, 1000, 0, undefined],
    [1000, 160, 84, undefined],
    [1000, 150, 85, 50],
    [1000, 151, 85, 49],
    [1000, 0, 100, 200],
    [999, 0, 100, 199],
  ]
  for (const [capacityBytes, availableBytes, percent, bytes] of rows) {
    test(`${availableBytes} of ${capacityBytes} left: ${percent} %, free ${bytes}`, () => {
      const space = { capacityBytes, availableBytes }
      assert.deepEqual(
        [computeUsagePercent(space), computeBytesToFree({ highPercent: 85, lowPercent: 80 }, space)],
        [percent, bytes],
      )
    })
  }
})

describe('computeRemovable()', () => {
  const rows: [what: string, images: KnownImage[], removable: string][] = [
    ['leaves what is used', [image('a', { inUse: true }), image('b')], 'b'],
    ['leaves what is pinned', [image('a', { pinned: true }), image('b')], 'b'],
    [
      'leaves what is new',
      [image('a', { firstSeenAt: NOW - 119_999 }), image('b', { firstSeenAt: NOW - 120_000 })],
      'b',
    ],
    [
      'leaves what was used since the pass began',
      [image('a', { lastUsedAt: NOW }), image('b', { lastUsedAt: NOW - 1 })],
      'b',
    ],
    [
      'takes what was used longest ago first, then what was seen first',
      [
        image('d', { lastUsedAt: 200, firstSeenAt: 0 }),
        image('c', { lastUsedAt: 100, firstSeenAt: 9 }),
        image('b', { lastUsedAt: 100, firstSeenAt: 5 }),
        image('a', { firstSeenAt: 700 }),
      ],
      'a b c d',
    ],
  ]
  for (const [what, images, removable] of rows) {
    test(what, () => assert.equal(ids(computeRemovable(images, 120_000, NOW)), removable))
  }
})

describe('computeExpired()', () => {
  const old = [
    image('used long ago', { lastUsedAt: NOW - 101 }),
    image('used lately', { lastUsedAt: NOW - 100 }),
    image('never used'),
    image('new', { firstSeenAt: NOW - 100 }),
    image('in use', { inUse: true }),
    image('pinned', { pinned: true }),
  ]
  const rows: [what: string, maximumAgeMs: number, startedAt: number, expired: string][] = [
    ['takes what nobody used for long', 100, 0, 'used long ago never used'],
    ['takes nothing without a limit', 0, 0, ''],
    ['takes nothing before the agent ran that long', 100, NOW - 100, ''],
  ]
  for (const [what, maximumAgeMs, startedAt, expired] of rows) {
    test(what, () => assert.equal(ids(computeExpired(old, maximumAgeMs, { now: NOW, startedAt })), expired))
  }
})

test('formatSize() takes the largest unit that fits', () => {
  const sizes = [0, 1023, 1024, 1536, 1024 ** 2, 5 * 1024 ** 3, 1024 ** 4, 3000 * 1024 ** 4]
  assert.deepEqual(sizes.map(formatSize), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '1.0 MiB',
    '5.0 GiB',
    '1.0 TiB',
    '3000.0 TiB',
  ])
})
