/** The reports of plans that were verified. Pure. */
import { documentFormats } from '../../report/document/index.ts';
import { planDocument } from './plan-document.ts';

export const planFormats = documentFormats(planDocument);
