import { parseAccept } from './negotiate.ts'
import type { Route } from '../http/route.ts'
import { sendAnswer, sendText } from '../http/send-answer.ts'
import { toApiTime } from '../../model/text/api-time.ts'

/** What /statusz shows. */
export interface StatuszInfo {
  readonly startedAt: number
  readonly uptimeSeconds: number
  /** What the agent itself runs on. */
  readonly platformVersion: string
  readonly version: string
  readonly emulatedVersion: string
  readonly paths: readonly string[]
}

interface Page {
  readonly path: string
  readonly kind: string
  /** Fields of the structured form. */
  readonly fields: () => Readonly<Record<string, unknown>>
  readonly text: () => string
}

const NOTE =
  'Warning: This page is for people who look for a fault. Programs should not read it: its form may change at any time.\n'
const GROUP = 'config.k8s.io'
const VERSIONS = ['v1beta1', 'v1alpha1']

/** /statusz: what this agent is and since when. */
export function createStatuszRoute(info: () => StatuszInfo): Route {
  return createPage({
    path: '/statusz',
    kind: 'Statusz',
    fields: () => {
      const { startedAt, uptimeSeconds, platformVersion, version, emulatedVersion, paths } = info()
      return {
        startTime: toApiTime(startedAt),
        uptimeSeconds: Math.floor(uptimeSeconds),
        goVersion: platformVersion,
        binaryVersion: version,
        emulationVersion: emulatedVersion,
        paths,
      }
    },
    text: () => {
      const { startedAt, uptimeSeconds, platformVersion, version, emulatedVersion, paths } = info()
      const lines = [
        ['Started', toApiTime(startedAt)],
        ['Up', `${Math.floor(uptimeSeconds)} s`],
        ['Platform', platformVersion],
        ['Binary version', version],
        ['Emulation version', emulatedVersion],
        ['Paths', paths.join(' ')],
      ]
      return `kubelet statusz\n${NOTE}\n${lines.map(([name, value]) => `${name}: ${value}\n`).join('')}`
    },
  })
}

/** /flagz: the flags and what they are set to. */
export function createFlagzRoute(flags: () => Readonly<Record<string, string>>): Route {
  return createPage({
    path: '/flagz',
    kind: 'Flagz',
    fields: () => ({ flags: flags() }),
    text: () => {
      const lines = Object.entries(flags()).map(([name, value]) => `${name}=${value}\n`)
      return `kubelet flagz\n${NOTE}\n${lines.join('')}`
    },
  })
}

function createPage(page: Page): Route {
  return {
    path: page.path,
    methods: 'any',
    async handle({ raw }, response) {
      for (const { type, parameters } of parseAccept(raw.headers.accept ?? '*/*')) {
        if (['*/*', 'text/*', 'text/plain'].includes(type)) return sendText(response, 200, page.text())
        const { v: version = '', g: group, as: kind } = parameters
        if (group !== GROUP || kind !== page.kind || !VERSIONS.includes(version)) continue
        if (type !== 'application/json' && type !== 'application/yaml') continue
        const document = {
          kind: page.kind,
          apiVersion: `${GROUP}/${version}`,
          metadata: { name: 'kubelet' },
          ...page.fields(),
        }
        const old = version === 'v1alpha1'
        const warning = `299 - "${GROUP}/v1alpha1 ${page.kind} is deprecated, use v1beta1"`
        return sendAnswer(response, {
          status: 200,
          type,
          // JSON is YAML.
          body: `${JSON.stringify(document)}\n`,
          headers: old ? { warning } : {},
        })
      }
      sendText(response, 406, `expected to be asked for text/plain, or for ${GROUP} as ${page.kind}\n`)
    },
  }
}
