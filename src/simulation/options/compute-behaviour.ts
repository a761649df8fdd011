import type { Behaviour, RuleMatch, SimulationRule, TimeRange } from './simulation-options.ts'

/** A container, as far as rules ask for it. */
export interface RuledContainer {
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  readonly container: string
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
}

/** What a container does: what the first rule that matches it says, and for the rest what all do. */
export function computeBehaviour(
  rules: readonly SimulationRule[],
  usual: Behaviour,
  container: RuledContainer,
): Behaviour {
  const rule = rules.find(({ match }, index) => matchesRule(match, container, index))
  return rule === undefined ? usual : { ...usual, ...rule.behaviour }
}

/** Chance is from 0 up to 1. */
export function pickTime({ leastMs, mostMs }: TimeRange, chance: number): number {
  return leastMs + (mostMs - leastMs) * chance
}

function matchesRule(match: RuleMatch, container: RuledContainer, index: number): boolean {
  const { labels = {}, share = 1, ...texts } = match
  const fit = Object.entries(texts).every(
    ([name, pattern]) => pattern === undefined || matchesText(pattern, container[name as keyof typeof texts]),
  )
  const labelled = Object.entries(labels).every(([name, value]) => container.labels[name] === value)
  return fit && labelled && (share === 1 || toChance(`${index} ${container.uid}`) < share)
}

function matchesText(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  const [first = ''] = parts
  const last = parts.at(-1) ?? ''
  if (parts.length === 1) return pattern === text
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from)
    if (at < 0 || at + part.length > text.length - last.length) return false
    from = at + part.length
  }
  return true
}

/** The same for the same text, so that a pod is treated alike each time its containers start (FNV-1a, then spread). */
function toChance(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b) >>> 0
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
