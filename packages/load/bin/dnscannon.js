#!/usr/bin/env node
import '#dnscannon';
