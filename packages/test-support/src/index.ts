export { makeCertificate } from './certificate.ts';
export { conformancePage, count } from './conformance-page.ts';
export { COSTS_VARIABLE, type FileCost, namespaceName } from './marks.ts';
export { fileNeeds, needs, needsFile, pathOf } from './needs.ts';
export { mixCase, pick, type Random, randomFractions, randomFrom } from './random.ts';
export { conformanceDirectory, findProgram, type Program, type Requirement } from './requirements.ts';
