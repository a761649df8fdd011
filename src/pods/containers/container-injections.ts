import type { Device } from '../../protocols/cri/generated/runtime-v1.ts'
import type { EnvironmentVariable } from './environment/compute-environment.ts'
import type { ContainerMount } from './compute-mounts.ts'

/** What others than its spec add to a container: plugins that give it devices, claims that were prepared for it. */
export interface ContainerInjections {
  readonly variables: readonly EnvironmentVariable[]
  readonly mounts: readonly ContainerMount[]
  readonly devices: readonly Device[]
  readonly annotations: Readonly<Record<string, string>>
  /** By their qualified names, such as vendor.example/class=name. */
  readonly cdiDevices: readonly string[]
}

/** A container that has what its spec says, and nothing else. */
export const NO_INJECTIONS: ContainerInjections = {
  variables: [],
  mounts: [],
  devices: [],
  annotations: {},
  cdiDevices: [],
}

/** All that several add together. Of two that say different things under one name or path the first counts; nothing comes twice. */
export function mergeInjections(all: readonly ContainerInjections[]): ContainerInjections {
  return {
    variables: firstOfEach(all, ({ variables }) => variables, 'name'),
    mounts: firstOfEach(all, ({ mounts }) => mounts, 'containerPath'),
    devices: firstOfEach(all, ({ devices }) => devices, 'containerPath'),
    annotations: Object.assign({}, ...all.map(({ annotations }) => annotations).toReversed()) as Record<string, string>,
    cdiDevices: [...new Set(all.flatMap(({ cdiDevices }) => cdiDevices))],
  }
}

/** The names and paths under which several say different things. */
export function findConflicts(all: readonly ContainerInjections[]): readonly string[] {
  const said = new Map<string, string>()
  const conflicts = new Set<string>()
  const say = (name: string, value: string) => {
    if ((said.get(name) ?? value) !== value) conflicts.add(name)
    said.set(name, said.get(name) ?? value)
  }
  for (const { variables, mounts, devices, annotations } of all) {
    for (const { name, value } of variables) say(`variable ${name}`, value)
    for (const { containerPath, hostPath } of mounts) say(`mount ${containerPath}`, hostPath)
    for (const { containerPath, hostPath } of devices) say(`device ${containerPath}`, hostPath)
    for (const [name, value] of Object.entries(annotations)) say(`annotation ${name}`, value)
  }
  return [...conflicts]
}

function firstOfEach<T>(
  all: readonly ContainerInjections[],
  pick: (injections: ContainerInjections) => readonly T[],
  key: keyof T,
): T[] {
  const byKey = new Map<unknown, T>()
  for (const item of all.flatMap(pick)) if (!byKey.has(item[key])) byKey.set(item[key], item)
  return [...byKey.values()]
}
