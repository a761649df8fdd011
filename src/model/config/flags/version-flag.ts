import process from 'node:process'
import { ownBuild } from '../../../base/builtin/own-build.ts'
import type { Field } from '../kinds/field.ts'
import { attempt, text } from '../kinds/scalar-kinds.ts'
import { parseGoBool } from '../values/go-scalars.ts'

/** The release of Kubernetes whose behaviour, flags and fields are ours. */
export const KUBERNETES_VERSION = 'v1.36.4'

// A build may only add to the release ("v1.36.4-acme.1"), not claim to be another.
const OWN_RELEASE = /^v1\.36\.4(?:[-+][0-9A-Za-z.+-]+)?$/

function parseVersionFlag(value: string): string {
  if (value === 'raw' || OWN_RELEASE.test(value)) return value
  const shown = attempt(() => parseGoBool(value))
  if (shown === undefined)
    throw new Error(`expected true, false, raw or a version that begins with ${KUBERNETES_VERSION}`)
  return shown ? 'true' : 'false'
}

/** --version: true and raw show the version, a version replaces the one that the node reports. */
export const versionFlag: Field<string> = {
  ...text({ default: 'false', about: 'show the version; raw for all of it, v… to report another build' }),
  flag: {
    name: 'version',
    type: 'version',
    deprecated: false,
    parse: (texts) => texts.map(parseVersionFlag).at(-1) ?? 'false',
  },
}

/** What --version prints, or undefined when it was not asked to print. kubeadm takes one line of this form and no other; the rest is in "raw". */
export function formatVersion(value: string): string | undefined {
  if (value === 'true') return `Kubernetes ${KUBERNETES_VERSION}`
  if (value !== 'raw') return undefined
  const [major, minor] = KUBERNETES_VERSION.slice(1).split('.')
  const build = { deckhandVersion: ownBuild?.version, gitCommit: ownBuild?.commit, nodeVersion: process.version }
  return JSON.stringify({ major, minor, gitVersion: KUBERNETES_VERSION, ...build, platform: 'linux' })
}

/** The version that the node reports. */
export function reportedVersion(value: string): string {
  return value.startsWith('v') ? value : KUBERNETES_VERSION
}
