import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadSettings, shown } from '../../../../test/fakes/load-settings.ts'
import { cisChecks } from '../../../../test/fixtures/cis-checks.ts'
import { computeNodeLayout } from '../node-layout.ts'
import { createAgentConfig } from './agent-config.ts'
import { agentFlags } from './agent-process.ts'

const layout = computeNodeLayout('/a')
const ports = { kubernetes: 4, agent: 1, healthz: 3 }
const text = createAgentConfig(layout, { nodeName: 'n', cgroupRoot: '/c', manifests: '/m', ports })

describe('createAgentConfig()', () => {
  test('collects images only in a runtime of its own: those of another are its user’s too', () => {
    const record = { nodeName: 'n', cgroupRoot: '/c', manifests: '/m', ports }
    const highest = (runtime?: string) => {
      const config = createAgentConfig(layout, runtime === undefined ? record : { ...record, runtime })
      return (JSON.parse(config) as Record<string, unknown>)['imageGCHighThresholdPercent']
    }
    assert.deepEqual([highest(), highest('unix:///var/run/docker.sock')], [undefined, 100])
  })

  for (const [what, path, isGood] of cisChecks) {
    test(`spells out for the CIS benchmark: ${what}`, () => {
      const value = path
        .split('.')
        .reduce<unknown>((found, name) => (found as Readonly<Record<string, unknown>>)[name], JSON.parse(text))
      assert.notEqual(value, undefined)
      assert.ok(isGood(value), `${path} is ${JSON.stringify(value)}`)
    })
  }

  test('is taken by the agent without a warning, and means what it says', async () => {
    const settings = await loadSettings([...agentFlags({ layout, nodeName: 'n' })], {
      [layout.agentConfig]: text,
      [layout.settings]: null,
    })
    assert.deepEqual(settings.warnings, [])
    for (const [, path, isGood] of cisChecks) {
      const value = shown(settings, path)
      if (value !== undefined) assert.ok(isGood(value), `${path} is ${JSON.stringify(value)}`)
    }
  })
})
